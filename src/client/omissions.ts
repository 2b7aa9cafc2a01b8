import { RigbridgeError } from "../contract/problems.ts";

/** Told of each element of a list that could not be read, and so is left out. */
export interface Omitting {
  omit(why: RigbridgeError): void;
}

/** Leaves nothing out: the first element that cannot be read fails the whole reply. */
export const strict: Omitting = {
  omit: (why) => {
    throw why;
  },
};

/** Elements that are named one by one; of more only the number is said. */
const maxNamed = 5;

/** What is left out of a reply. */
export class Omissions implements Omitting {
  readonly #reasons: RigbridgeError[] = [];

  omit(why: RigbridgeError): void {
    this.#reasons.push(why);
  }

  /** Throws the first reason where nothing could be read: this is then no list of such things. */
  check(kept: number): void {
    const [first] = this.#reasons;
    if (first !== undefined && kept === 0) throw first;
  }

  /** For people. */
  get notes(): string[] {
    const more = this.#reasons.length - maxNamed;
    return [
      ...this.#reasons.slice(0, maxNamed).map(omitted),
      ...(more > 0 ? [`${more} more entries are left out, which cannot be read either`] : []),
    ];
  }
}

export const omitted = ({ message }: RigbridgeError): string =>
  `An entry is left out, which cannot be read: ${message}`;

/** What is read of each, without those of which something is garbled. */
export function readable<E, T>(elements: readonly E[], read: (element: E) => T, omitting: Omitting): T[] {
  return elements.flatMap((element) => {
    try {
      return [read(element)];
    } catch (error) {
      if (!(error instanceof RigbridgeError) || error.code !== "service.garbled") throw error;
      omitting.omit(error);
      return [];
    }
  });
}
