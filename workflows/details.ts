/** Current details for the Web UI, in its Markdown: where the workflow stands, as a heading over a table. */
export function detailsTable(heading: string, rows: readonly (readonly [name: string, value: string])[]): string {
  const lines = rows.map(([name, value]) => `| ${name} | ${value} |`);
  return [`**${heading}**`, '', '| where it stands now | |', '| --- | --- |', ...lines].join('\n');
}
