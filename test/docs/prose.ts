import { readFileSync } from 'node:fs';

/** A piece of prose: a comment, a message or a paragraph, on one line. */
export interface Prose {
  readonly file: string;
  /** The number of its first line. */
  readonly line: number;
  readonly text: string;
  readonly isMessage: boolean;
}

/** Reads the prose of a file: of Markdown all paragraphs without code, of other files comments and messages. */
export function proseOf(root: string, file: string): ReadonlyArray<Prose> {
  const source = readFileSync(`${root}/${file}`, 'utf8');
  const lineOf = (at: number) => source.slice(0, at).split('\n').length;
  const prose = (found: ReadonlyArray<Found>, isMessage: boolean) =>
    found.map(({ at, text }) => ({ file, line: lineOf(at), text: plain(text), isMessage }));
  if (file.endsWith('.md')) return prose(paragraphs(source), false);
  return [...prose(comments(source), false), ...prose(messages(source), true)];
}

/** Returns every word in backquotes. */
export function quotedWords(text: string): ReadonlyArray<string> {
  const spans = Array.from(text.matchAll(/(`+)([^`]+)\1/g), ([, , span = '']) => span);
  return spans.flatMap((span) => span.split(/\s+/));
}

interface Found {
  readonly at: number;
  readonly text: string;
}

const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

function paragraphs(markdown: string): ReadonlyArray<Found> {
  const blank = (code: string) => code.replaceAll(/[^\n]/g, ' ');
  const text = markdown.replaceAll(/^```.*?^```/gms, blank).replaceAll(/`[^`\n]+`/g, blank);
  return [...text.matchAll(/(?:^.*\S.*(?:\n|$))+/gm)].map(({ index, 0: paragraph }) => ({
    at: index,
    text: paragraph,
  }));
}

function comments(source: string): ReadonlyArray<Found> {
  const blocks = [...source.matchAll(/\/\*\*?(.*?)\*\//gs)].map(({ index, 1: text = '' }) => ({
    at: index,
    text: text.replaceAll(/^\s*\* ?/gm, ''),
  }));
  const lines = [...source.matchAll(/(?:^[ \t]*\/\/ ?.*(?:\n|$))+/gm)].map(({ index, 0: text }) => ({
    at: index,
    text: text.replaceAll(/^\s*\/\/ ?/gm, ''),
  }));
  const ends = [...source.matchAll(/\S[ \t]+\/\/ (.*)$/gm)].map(({ index, 1: text = '' }) => ({ at: index, text }));
  return [...blocks, ...lines, ...ends];
}

/** Texts of several words in quotes. */
function messages(source: string): ReadonlyArray<Found> {
  const quoted = /'((?:[^'\\\n]|\\.)*? (?:[^'\\\n]|\\.)*?)'|`((?:[^`\\]|\\.)*? (?:[^`\\]|\\.)*?)`/g;
  return [...source.matchAll(quoted)].map(({ index, 1: single, 2: template }) => ({
    at: index,
    text: single ?? template ?? '',
  }));
}
