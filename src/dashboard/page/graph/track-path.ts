export interface Point {
  readonly x: number;
  readonly y: number;
}

const bend = 9;

/** Draws horizontal and vertical lines. Every corner is cut at 45 degrees. @returns the `d` of an SVG path */
export function bentPath(points: ReadonlyArray<Point>): string {
  const [first, ...others] = points;
  if (first === undefined) return '';
  const parts = [`M${at(first)}`];
  let before = first;
  for (const [index, corner] of others.entries()) {
    const after = others[index + 1];
    if (after === undefined) {
      parts.push(`L${at(corner)}`);
      break;
    }
    const cut = Math.min(bend, length(before, corner) / 2, length(corner, after) / 2);
    parts.push(`L${at(towards(corner, before, cut))}`, `L${at(towards(corner, after, cut))}`);
    before = corner;
  }
  return parts.join('');
}

function length(one: Point, other: Point): number {
  return Math.abs(one.x - other.x) + Math.abs(one.y - other.y);
}

function towards(from: Point, to: Point, distance: number): Point {
  return { x: from.x + Math.sign(to.x - from.x) * distance, y: from.y + Math.sign(to.y - from.y) * distance };
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
