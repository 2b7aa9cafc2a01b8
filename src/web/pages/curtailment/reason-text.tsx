import type { Curtailment } from "../../../contract/curtailment.ts";
import { t } from "../../language.ts";

/** Why there is one, and whether it is an exercise. */
export const ReasonText = ({ reason, drill }: Pick<Curtailment, "reason" | "drill">) => (
  <>
    <bdi>{reason}</bdi>
    {drill ? (
      <>
        {" "}
        <span class="tag">{t.curtailment.drill}</span>
      </>
    ) : null}
  </>
);
