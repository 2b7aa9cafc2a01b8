import { t } from "../../language.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { AddResults } from "../add/add-results.tsx";
import { Search } from "../add/search.tsx";
import "../add/add.css";

/** Searches for rigs and adds them; asks for logins where they help. */
export const RigsStep = () => (
  <>
    <AddResults />
    {may("startDiscovery") ? <Search /> : null}
    <p>
      <a href={link("add?by=address")}>{t.start.oneByAddress}</a>
    </p>
  </>
);
