/** Who polls a rig. One process owns all; several workers will share them through the same question. */
export interface Ownership {
  mine(minerId: number): boolean;
}

export const alwaysMine: Ownership = { mine: () => true };
