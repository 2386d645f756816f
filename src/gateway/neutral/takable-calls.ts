import type { Answer, AnswerPart } from './answer.ts';
import { type ArgumentRules, CallArguments, isNothing } from './call-arguments.ts';

/**
 * Makes an answer that the client can take. A call that the limit of tokens cut off is left out. Any other call whose
 * arguments are cut off, or that the client's protocol cannot express, makes the answer null: it is not known what it
 * asks of the tool.
 */
export function withTakableCalls(answer: Answer, rules: ArgumentRules): Answer | null {
  const isCut = answer.reason === 'length';
  const parts: AnswerPart[] = [];
  for (const part of answer.parts) {
    if (part.kind !== 'tool-call') parts.push(part);
    else {
      const given = argumentsOf(part.name, part.arguments, rules);
      if (given.isTakable && !(isCut && given.isEmpty))
        parts.push(given.isEmpty ? { ...part, arguments: given.whenEmpty } : part);
      else if (!isCut) return null;
    }
  }
  return { ...answer, parts };
}

function argumentsOf(name: string, text: string, rules: ArgumentRules): CallArguments {
  const given = new CallArguments(name, rules);
  if (!isNothing(text)) given.add(text);
  return given;
}
