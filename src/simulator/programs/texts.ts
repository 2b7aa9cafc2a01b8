/** A bus as "0a:00.0". */
export const busText = (bus: number): string => `${bus.toString(16).padStart(2, "0")}:00.0`;
