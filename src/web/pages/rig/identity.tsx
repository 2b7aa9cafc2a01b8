import type { Group, MinerDetail } from "../../../contract/resources.ts";
import { ownGroupName } from "../../../contract/site-numbers.ts";
import { groupPath } from "../../groups.ts";
import { t } from "../../language.ts";
import { Card } from "../../parts/page.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { Facts } from "./facts.tsx";
import { ownPage } from "./own-page.ts";
import { isManaged } from "./settings.tsx";

interface IdentityProps {
  readonly miner: MinerDetail;
  /** Null until loaded. */
  readonly groups: readonly Group[] | null;
}

/** The identity and location of the rig. */
export function Identity({ miner, groups }: IdentityProps) {
  const { identity, location, hostDescription } = miner;
  const page = isManaged(miner) ? null : ownPage(miner);
  const { make = null, model: named = null } = identity ?? {};
  const hasMake = make === null || named?.toLowerCase().startsWith(make.toLowerCase());
  const model = [hasMake ? null : make, named].filter((each) => each).join(" ") || miner.hardware;
  const { placeId = null, position = null } = miner;
  const place = [location.site, location.container, location.rack, location.slot].filter((each) => each !== null);
  const where = [
    // A row is no part of the location.
    place.length === 0 && placeId !== null ? t.places.place : place.join(" · "),
    ...(position === null ? [] : [t.places.at(position)]),
  ].join(" · ");
  const path = groupPath(groups ?? [], miner.groupId);
  const software = [miner.softwareType, identity?.firmware].filter((each) => each).join(" ");
  const facts = [
    [t.rig.model, model === "" ? null : <bdi>{model}</bdi>],
    [t.rig.firmware, software === "" ? null : <bdi>{software}</bdi>],
    [
      t.rig.address,
      page === null ? (
        <bdi>{hostDescription}</bdi>
      ) : (
        <a href={page} target="_blank" rel="noopener noreferrer">
          <bdi>{hostDescription}</bdi>
        </a>
      ),
    ],
    [
      t.rig.group,
      // Its line is reserved from the start: a late answer would push down what the user is reading.
      groups === null && miner.groupId !== 0 ? (
        "…"
      ) : path.length === 0 ? null : (
        <a href={link(`rigs?group=${miner.groupId}`)}>
          <bdi>{path.map(ownGroupName).join(" / ")}</bdi>
        </a>
      ),
    ],
    [
      t.rig.location,
      where === "" ? null : placeId !== null && may("listPlaces") ? (
        <a href={link(`places/${placeId}`)}>
          <bdi>{where}</bdi>
        </a>
      ) : (
        <bdi>{where}</bdi>
      ),
    ],
    [t.rig.uid, miner.uid === null ? null : <code>{miner.uid}</code>],
    [
      t.rig.tags,
      miner.tags.length === 0 ? null : (
        <span class="tags">
          {miner.tags.map((tag) => (
            <a key={tag} class="tag" href={link(`rigs?tag=${encodeURIComponent(tag)}`)}>
              <bdi>{tag}</bdi>
            </a>
          ))}
        </span>
      ),
    ],
  ] as const;
  return (
    <Card title={t.rig.about}>
      <Facts list={facts} />
    </Card>
  );
}
