import { useRoute } from "preact-iso";
import { t } from "../../language.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { AddResults } from "./add-results.tsx";
import { AtRack } from "./at-rack.tsx";
import { ByAddress } from "./by-address.tsx";
import { FromList } from "./from-list.tsx";
import { Search } from "./search.tsx";
import "./add.css";

const ways = ["search", "rack", "address", "list"] as const;

/** Adds rigs: found on the network, at their rack, by address, or from a list. */
export default function Add() {
  const { query } = useRoute();
  const needs = {
    search: "startDiscovery",
    rack: "placeSighting",
    address: "addMiner",
    list: "previewImport",
  } as const;
  const possible = ways.filter((way) => may(needs[way]));
  const way = possible.find((each) => each === query.by) ?? possible[0];
  return (
    <Page limited title={t.add.title} lead={t.add.lead}>
      <Tabs
        name={t.add.title}
        tabs={possible.map((key) => ({ key, label: t.add.ways[key] }))}
        chosen={way ?? "address"}
        hrefOf={(key) => link(`add?by=${key}`)}
      />
      <AddResults />
      {way === "search" ? <Search /> : way === "rack" ? <AtRack /> : way === "list" ? <FromList /> : <ByAddress />}
    </Page>
  );
}
