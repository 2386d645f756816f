/** A place that the palette opens, or an action that it runs. */
export interface PaletteItem {
  readonly group: string;
  readonly key: string;
  readonly title: string;
  readonly note: string;
  /** The words by which a search finds the item. */
  readonly words: string;
  readonly run: () => void;
}

export interface FoundGroup {
  readonly group: string;
  readonly items: ReadonlyArray<PaletteItem>;
}

const maxPerGroup = 6;

/** Finds the items that have every word of the text. Items whose title begins with the text come first. */
export function findIn(items: ReadonlyArray<PaletteItem>, text: string): ReadonlyArray<FoundGroup> {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = items.filter((item) => words.every((word) => item.words.toLowerCase().includes(word)));
  const ranked = found
    .map((item, index) => ({ item, index, rank: rankOf(item, text.trim().toLowerCase()) }))
    .sort((one, other) => one.rank - other.rank || one.index - other.index)
    .map(({ item }) => item);
  const groups = new Map<string, PaletteItem[]>();
  for (const item of ranked) {
    const group = groups.get(item.group) ?? [];
    groups.set(item.group, group);
    if (group.length < maxPerGroup) group.push(item);
  }
  return [...groups].map(([group, inGroup]) => ({ group, items: inGroup }));
}

function rankOf({ title, key }: PaletteItem, text: string): number {
  if (text === '') return 2;
  if (key.toLowerCase() === text || title.toLowerCase() === text) return 0;
  return title.toLowerCase().startsWith(text) ? 1 : 2;
}
