import { countMatches } from '#shared/codecs/text.ts';
import type { Conversation, DocumentPart, Part } from './conversation.ts';

const bytesPerToken = 4;
const tokensPerPicture = 1_000;

/**
 * Estimates the tokens of a conversation's input, without a tokenizer: a quarter of the bytes of its texts, and 1,000 for
 * each image and each page of a document.
 */
export function estimateTokens({ system, turns, tools }: Conversation): number {
  const texts = [
    ...system.map(({ text }) => text),
    ...tools.map(({ name, description, schema }) => name + (description ?? '') + (schema ?? '')),
  ];
  const ofTexts = texts.reduce((sum, text) => sum + tokensOfText(text), 0);
  return Math.ceil(turns.reduce((sum, { parts }) => sum + tokensOf(parts), ofTexts));
}

function tokensOf(parts: ReadonlyArray<Part>): number {
  return parts.reduce((sum, part) => sum + tokensOfPart(part), 0);
}

function tokensOfPart(part: Part): number {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return tokensOfText(part.text);
    case 'image':
      return tokensPerPicture;
    case 'document':
      return tokensOfDocument(part);
    case 'tool-call':
      return tokensOfText(part.name + part.arguments);
    case 'tool-result':
      return tokensOf(part.parts);
  }
}

function tokensOfDocument({ source }: DocumentPart): number {
  if (source.kind === 'text') return tokensOfText(source.text);
  return tokensPerPicture * (source.kind === 'base64' ? pagesIn(source.data) : 1);
}

/** A page object of PDF. Those in compressed streams are not seen. */
const page = /\/Type\s*\/Page(?![A-Za-z])/g;

function pagesIn(data: string): number {
  return Math.max(1, countMatches(Buffer.from(data, 'base64').toString('latin1'), page));
}

function tokensOfText(text: string): number {
  return Buffer.byteLength(text) / bytesPerToken;
}
