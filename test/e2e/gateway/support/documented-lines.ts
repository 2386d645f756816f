import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A section of docs/clients.md. */
export function documentedSection(title: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/clients.md'), 'utf8');
  const [, text = ''] = page.split(`\n## ${title}\n`);
  const [section = ''] = text.split('\n## ');
  return section;
}

/** The first lines of a language in a section of docs/clients.md. */
export function documentedLines(title: string, language: string): string {
  const [, lines] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(documentedSection(title)) ?? [];
  return lines ?? assert.fail(`${title} has no ${language}`);
}
