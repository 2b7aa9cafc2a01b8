import { z } from "zod";

/** Control characters and direction marks, spelled out because not every client's language supports \p{Cc}. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const oneLine = /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/;

/** One line of text, without control characters. */
export const Line = (max: number) => z.string().max(max).regex(oneLine, "must be one line without control characters");
