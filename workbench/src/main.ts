import "./style/fonts.css";
import "./style/base.css";
import "./style/parts.css";
import "./style/pictures.css";
import "./style/swizzle.css";
import "./style/code.css";
import "./style/layout.css";
import "./style/kernel.css";
import "./style/tour.css";
import { connect } from "./engine/engine";
import { shell } from "./shell";
import { FaultBox } from "./ui/fault";
import { applyTheme } from "./ui/theme";
import { views } from "./views";

applyTheme();
const root = document.getElementById("workbench");
if (root) {
  connect(new URL(".", location.href)).then(
    (engine) => shell(root, engine, views),
    (error: unknown) => {
      const fault = new FaultBox();
      fault.show(error);
      root.replaceChildren(fault.element);
    },
  );
}
