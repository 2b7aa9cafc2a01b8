import { isUtf8 } from "node:buffer";

const latin1Note = "the reply is not UTF-8 and was read as Latin-1";

const none: readonly string[] = [];

/** Bytes from a device as text; what is no UTF-8 is read as Latin-1. */
export const decode = (bytes: Buffer): { readonly text: string; readonly notes: readonly string[] } =>
  isUtf8(bytes)
    ? { text: bytes.toString("utf8"), notes: none }
    : { text: bytes.toString("latin1"), notes: [latin1Note] };
