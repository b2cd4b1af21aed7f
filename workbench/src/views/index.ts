/** The views, in the order of their tabs; the first one is what the bare address shows. */

import type { AnyView } from "../shell";
import { convert } from "./convert";
import { kernel } from "./kernel";
import { layout } from "./layout";
import { swizzle } from "./swizzle";
import { tour } from "./tour";

export const views: readonly AnyView[] = [swizzle, layout, convert, kernel, tour];
