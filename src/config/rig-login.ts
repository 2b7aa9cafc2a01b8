import type { LoginSettings } from "./schema.ts";

interface Login {
  readonly username?: string | null | undefined;
  readonly password?: string | null | undefined;
  readonly token?: string | null | undefined;
}

/** The credentials of a rig: its own login, otherwise the one that it names. */
export function rigLogin(
  { login, ...own }: Login & { readonly login?: string | null | undefined },
  logins: readonly LoginSettings[],
): { username: string | undefined; password: string | undefined; token: string | undefined } {
  const hasOwn = [own.username, own.password, own.token].some((part) => part != null);
  const { username, password, token }: Login = hasOwn ? own : (logins.find(({ name }) => name === login) ?? {});
  return { username: username ?? undefined, password: password ?? undefined, token: token ?? undefined };
}
