/** The views, in the order of their tabs; the first one is what the bare address shows. */

import type { AnyView } from "../shell";
import { swizzle } from "./swizzle";
import { tour } from "./tour";

export const views: readonly AnyView[] = [swizzle, tour];
