/** Whether store.url names a database in a server, and not a file. */
export const isDatabaseUrl = (url: string): boolean => /^postgres(ql)?:\/\//i.test(url);
