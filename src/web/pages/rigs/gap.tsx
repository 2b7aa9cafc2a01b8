/** Replaces the rows of a table that are not rendered. */
export const Gap = ({ height, columns }: { height: number; columns: number }) =>
  height === 0 ? null : (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it can take the focus
    <tr class="gap" aria-hidden="true">
      <td colSpan={columns} style={{ blockSize: `${height}px` }} />
    </tr>
  );
