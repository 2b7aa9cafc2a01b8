import { type Notes, TolerantReader } from "../../tolerant-reader.ts";

const most = { records: 256, fields: 128 };

/** Text such as `GPU=0;KHS=10.00|GPU=1;KHS=11.00|` as one reader for each record; empty for any other text. */
export function recordsOf(text: string, notes: Notes, where: string): TolerantReader[] {
  const records = text.split("|", most.records).map(fieldsOf);
  return records
    .filter((fields) => fields.length > 0)
    .map((fields, index) => new TolerantReader(Object.fromEntries(fields), notes, `${where}[${index}]`));
}

function fieldsOf(record: string): [string, string][] {
  return record.split(";", most.fields).flatMap((field): [string, string][] => {
    const at = field.indexOf("=");
    return at < 1 || at > 32 ? [] : [[field.slice(0, at).trim(), field.slice(at + 1).trim()]];
  });
}
