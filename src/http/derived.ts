/**
 * A value derived from a setting, recomputed only when the setting changes: settings may change while the server runs.
 */
export function derived<T, R>(read: () => T, make: (value: T) => R): () => R {
  let last = read();
  let made = make(last);
  return () => {
    const value = read();
    if (value !== last) {
      made = make(value);
      last = value;
    }
    return made;
  };
}
