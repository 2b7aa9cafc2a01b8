/** One line of what a long proof did and measured. */
export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
