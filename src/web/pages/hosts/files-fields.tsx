import { t } from "../../language.ts";
import { type HostLimits, isOwn, presetFiles, whyNotDownload, whyNotPath } from "./host-choices.ts";
import { Select, Text } from "./miner-fields.tsx";

interface FilesProps {
  readonly limits: HostLimits | null;
  readonly software: string;
  readonly downloads: boolean;
  readonly path: string;
  readonly problemOf: (path: string) => string | undefined;
  readonly onChange: (changes: { readonly softwareAutoDownload?: boolean; readonly softwarePath?: string }) => void;
}

/** The source of a program's files, among those that its host allows. */
export function FilesFields({ limits, software, downloads, path, problemOf, onChange }: FilesProps) {
  if (isOwn(limits, software)) return <p class="hint">{t.hosts.ownFiles}</p>;
  const noDownload = whyNotDownload(limits, software);
  const noPath = whyNotPath(limits);
  const folders = limits?.permissions.folders.join(", ");
  return (
    <>
      <Select
        label={t.hosts.files}
        value={downloads ? "download" : "path"}
        options={[
          { id: "download", name: t.hosts.download, whyNot: noDownload },
          { id: "path", name: t.hosts.installed, whyNot: noPath },
        ]}
        problem={
          problemOf("softwareAutoDownload") ?? (noDownload !== null && noPath !== null ? t.hosts.neither : undefined)
        }
        onChange={(files) =>
          onChange({
            softwareAutoDownload: files === "download",
            softwarePath: files === "download" || path !== "" ? path : presetFiles(limits, software).softwarePath,
          })
        }
      />
      {downloads ? null : (
        <Text
          label={t.hosts.path}
          {...(folders === undefined || folders === "" ? {} : { hint: t.hosts.foldersHint({ folders }) })}
          value={path}
          maxLength={1000}
          ltr
          problem={problemOf("softwarePath")}
          onChange={(softwarePath) => onChange({ softwarePath })}
        />
      )}
    </>
  );
}
