import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Folders that may import only each other and the floors below. */
interface Floor {
  readonly name: string;
  readonly folders: ReadonlyArray<string>;
}

const floors: ReadonlyArray<Floor> = createRequire(import.meta.url)('../.dependency-floors.cjs');

const page = new URL('architecture.md', import.meta.url);
const place = /(<!-- floors -->\n)[\s\S]*?(<!-- \/floors -->)/;
const top: Floor = { name: 'top', folders: ['src/cli', 'src/main.ts'] };

/** Returns the text of docs/architecture.md with the floors as the linter has them now. */
export function withFloors(text: string): string {
  const drawn = [...floors, top].toReversed();
  const boxes = drawn.map(
    ({ name, folders }) => `  ${idOf(name)}["${folders.map((folder) => folder.replace('src/', '')).join(', ')}"]`,
  );
  const arrows = `  ${drawn.map(({ name }) => idOf(name)).join(' --> ')}`;
  const diagram = ['```mermaid', 'flowchart TB', ...boxes, arrows, '```', ''].join('\n');
  return text.replace(place, (_, begin: string, end: string) => `${begin}${diagram}${end}`);
}

function idOf(name: string): string {
  return `floor_${name.replaceAll('-', '_')}`;
}

// `npm run diagrams` runs this file.
if (import.meta.main) writeFileSync(page, withFloors(readFileSync(page, 'utf8')));
