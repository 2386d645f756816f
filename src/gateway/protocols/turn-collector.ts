import { type Conversation, joinTurns, type Part, type TextPart, type Turn } from '#gateway/neutral/conversation.ts';
import { onlyTexts } from './content-parts.ts';

/** Collects turns. What the system says first is apart, and what it says later stays in its place. */
export class TurnCollector {
  readonly #system: TextPart[] = [];
  readonly #turns: Turn[] = [];

  add({ role, parts }: Turn): void {
    const isFirst = this.#turns.length === 0;
    if (role === 'system' && isFirst) this.#system.push(...onlyTexts(parts));
    else this.#turns.push({ role, parts: role === 'system' ? onlyTexts(parts) : parts.filter(saysSomething) });
  }

  get collected(): Pick<Conversation, 'system' | 'turns'> {
    return { system: this.#system, turns: joinTurns(this.#turns) };
  }
}

/** True if the part says something. Clients send back hidden reasoning that has neither a text nor a signature. */
export function saysSomething(part: Part): boolean {
  return part.kind !== 'reasoning' || part.text !== '' || part.signature !== null;
}
