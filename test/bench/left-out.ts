/** Says why a part cannot be measured on this machine. */
export class LeftOut extends Error {
  override readonly name = "LeftOut";
}
