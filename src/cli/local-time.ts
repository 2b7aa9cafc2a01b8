/** "11-28 13:05", in the local time zone. */
export const localMinute = (time: Date): string =>
  `${two(time.getMonth() + 1)}-${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}`;

const two = (part: number): string => String(part).padStart(2, "0");
