import { useMemo } from "preact/hooks";
import { encode } from "uqr";

/** A text as a QR code, dark on light in every theme, for cameras. */
export function Qr({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const code = encode(text, { ecc: "M", border: 2 });
    return { size: code.size, path: code.data.map(pathOf).join("") };
  }, [text]);
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** The dark runs of a row: a page of labels has hundreds of codes. */
function pathOf(row: readonly boolean[], y: number): string {
  let path = "";
  for (let x = 0; x < row.length; x += 1) {
    if (row[x] !== true) continue;
    const from = x;
    while (row[x + 1] === true) x += 1;
    path += `M${from} ${y}h${x + 1 - from}v1H${from}z`;
  }
  return path;
}
