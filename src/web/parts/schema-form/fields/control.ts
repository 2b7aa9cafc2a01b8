import type { ComponentChildren } from "preact";
import type { Json, Path, Schema, Shape } from "../schema.ts";

/** Attributes that connect a control with its label, hint and problem. */
export interface ControlAttributes {
  readonly id: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string;
}

export interface ControlProps {
  readonly attributes: ControlAttributes;
  readonly value: Json;
  readonly onValue: (value: Json) => void;
}

export const textOf = (value: Json): string => (value === null || value === undefined ? "" : String(value));

/** A value without parts, and its place in the form. */
export interface LeafProps {
  readonly name: string;
  readonly label: string;
  readonly schema: Schema;
  readonly shape: Shape;
  readonly value: Json;
  readonly parent: Json;
  readonly path: Path;
  readonly action: ComponentChildren;
}
