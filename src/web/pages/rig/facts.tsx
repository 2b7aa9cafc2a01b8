import type { ComponentChildren } from "preact";

interface FactsProps {
  readonly list: readonly (readonly [string, ComponentChildren | null])[];
}

/** Pairs of a name and a value; those without a value are left out. */
export function Facts({ list }: FactsProps) {
  return (
    <dl class="facts">
      {list.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
