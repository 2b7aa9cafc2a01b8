/** What the benchmark uses of it; the package has no types of its own. */
declare module "cgminer-api" {
  interface Command {
    readonly name: string;
    /** The section of the reply. */
    readonly reply: string;
  }
  const cgminer: {
    client: new (options: { host: string; port: number }) => { request(command: Command): PromiseLike<unknown> };
  };
  export default cgminer;
}
