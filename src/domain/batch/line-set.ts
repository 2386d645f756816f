import { Map as PersistentMap } from 'immutable';

const linesOfBlock = 1_024;

/** Finished lines by number, from 1: for each block of lines a bit mask, in hex. */
export type LineSet = PersistentMap<string, string>;

export const noLines: LineSet = PersistentMap();

export function hasLine(set: LineSet, line: number): boolean {
  const bits = set.get(blockOf(line));
  if (bits === undefined) return false;
  const at = line % linesOfBlock;
  return (Number.parseInt(bits.charAt(at >> 2), 16) & (1 << (at & 3))) !== 0;
}

/** @param ranges as `rangesOf` gives them */
export function withLines(set: LineSet, ranges: string): LineSet {
  const byBlock = Map.groupBy(linesIn(ranges), blockOf);
  let changed = set;
  for (const [block, lines] of byBlock) {
    const digits = Array.from(set.get(block) ?? '0'.repeat(linesOfBlock / 4), (digit) => Number.parseInt(digit, 16));
    for (const line of lines) {
      const at = line % linesOfBlock;
      digits[at >> 2] = (digits[at >> 2] ?? 0) | (1 << (at & 3));
    }
    changed = changed.set(block, digits.map((digit) => digit.toString(16)).join(''));
  }
  return changed;
}

/** The ranges in order: `1-31,35`. */
export function rangesOf(lines: ReadonlyArray<number>): string {
  const ranges: [number, number][] = [];
  for (const line of [...lines].sort((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last !== undefined && line <= last[1] + 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

export function linesIn(ranges: string): ReadonlyArray<number> {
  return ranges.split(',').flatMap((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number);
    return range === '' ? [] : Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

function blockOf(line: number): string {
  return String(Math.floor(line / linesOfBlock));
}
