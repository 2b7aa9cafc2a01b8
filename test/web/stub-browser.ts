/** What the dashboard's modules of words and figures ask a browser for. Call the result to restore it. */
export function stubBrowser(): () => void {
  const stubs = {
    localStorage: { getItem: () => null },
    navigator: { languages: ["en-GB"] },
    document: { documentElement: {} },
  };
  const before = Object.keys(stubs).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
  for (const [name, value] of Object.entries(stubs))
    Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  return () => {
    for (const [name, descriptor] of before) {
      Reflect.deleteProperty(globalThis, name);
      if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor);
    }
  };
}
