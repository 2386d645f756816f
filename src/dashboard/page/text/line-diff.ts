import { diff } from 'fast-myers-diff';

/** The line number is null on the side without this line. */
export interface DiffLine {
  readonly kind: 'same' | 'add' | 'del';
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
}

/** A fold has the number of equal lines that are left out. */
export type DiffRow = DiffLine | { readonly kind: 'fold'; readonly count: number };

/** Number of equal lines around a difference. */
const context = 3;

/** The difference of two texts, with equal parts folded. */
export function lineDiff(before: string, after: string): ReadonlyArray<DiffRow> {
  return folded(allLines(before.split('\n'), after.split('\n')));
}

export function wholeLines(text: string): ReadonlyArray<DiffLine> {
  return text.split('\n').map((line, index) => ({ kind: 'same', before: null, after: index + 1, text: line }));
}

function allLines(one: string[], other: string[]): ReadonlyArray<DiffLine> {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  const same = (until: number) => {
    while (before < until) {
      lines.push({ kind: 'same', before: before + 1, after: after + 1, text: one[before] ?? '' });
      before += 1;
      after += 1;
    }
  };
  for (const [start, end, , to] of diff(one, other)) {
    same(start);
    for (; before < end; before += 1)
      lines.push({ kind: 'del', before: before + 1, after: null, text: one[before] ?? '' });
    for (; after < to; after += 1)
      lines.push({ kind: 'add', before: null, after: after + 1, text: other[after] ?? '' });
  }
  same(one.length);
  return lines;
}

function folded(lines: ReadonlyArray<DiffLine>): ReadonlyArray<DiffRow> {
  const rows: DiffRow[] = [];
  let alike: DiffLine[] = [];
  const flush = (isLast: boolean) => {
    const head = rows.length === 0 ? 0 : context;
    const tail = isLast ? 0 : context;
    const hidden = alike.length - head - tail;
    if (hidden <= 1) rows.push(...alike);
    else {
      const end = tail === 0 ? [] : alike.slice(-tail);
      rows.push(...alike.slice(0, head), { kind: 'fold', count: hidden }, ...end);
    }
    alike = [];
  };
  for (const line of lines) {
    if (line.kind === 'same') alike.push(line);
    else {
      flush(false);
      rows.push(line);
    }
  }
  flush(true);
  return rows;
}
