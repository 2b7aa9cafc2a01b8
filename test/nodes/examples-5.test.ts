import { describe } from "@jest/globals";
import { describeExamples } from "./examples-run.ts";

describe("the examples in Node-RED 5", () => describeExamples(5));
