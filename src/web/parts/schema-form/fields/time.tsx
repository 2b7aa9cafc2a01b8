import { TypedInput } from "../../typed-input.tsx";
import type { Json } from "../schema.ts";
import type { ControlProps } from "./control.ts";

const localTime = (value: Json): string => {
  const time = typeof value === "string" ? new Date(value) : null;
  if (time === null || Number.isNaN(time.getTime())) return "";
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/** A time in the browser's own zone. */
export const TimeInput = ({ attributes, value, onValue }: ControlProps) => (
  <TypedInput
    {...attributes}
    type="datetime-local"
    value={localTime(value)}
    onCommit={(text) => onValue(text === "" ? null : new Date(text).toISOString())}
  />
);
