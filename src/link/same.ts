/** Whether two values are equal in all that they contain. Copies nothing. Ignores fields called `except`. */
export function same(a: unknown, b: unknown, except?: string): boolean {
  if (Object.is(a, b)) return true;
  if (!isObjectOrArray(a) || !isObjectOrArray(b)) return false;
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && sameLists(a, b, except);
  let keys = 0;
  for (const key in a) {
    keys += 1;
    if (key !== except && !same(a[key], b[key], except)) return false;
  }
  for (const _ in b) keys -= 1;
  return keys === 0;
}

function sameLists(a: readonly unknown[], b: readonly unknown[], except: string | undefined): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (!same(a[index], b[index], except)) return false;
  return true;
}

const isObjectOrArray = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
