import { LRUCache } from 'lru-cache';
import type { Caller } from '#domain/shared/access.ts';
import type { ByteBudget } from '#exchange/byte-budget.ts';
import { presentedKeyOf } from '#http/request/request-headers.ts';
import { writeResponse } from '#http/response/response.ts';
import type { CommitCounter } from '#read-store/read-store.ts';
import type { AnswerOrigin, RequestContext } from './request-context.ts';

/** What decides whether a remembered answer may be sent. */
export interface RememberedAnswersOptions {
  /** The caller of a key that memory knows to be valid now; null if this takes longer. */
  readonly resolveNow: (presentedKey: string) => Caller | null;
  readonly commitCounter: CommitCounter;
  readonly answers: Pick<ByteBudget, 'fullFor'>;
}

interface RememberedAnswer {
  readonly caller: Caller;
  /** The name and the path of the operation, for the log and the metrics. */
  readonly name: string;
  readonly pathTemplate: string | null;
  readonly fields: ReadonlyArray<string>;
  readonly text: string;
}

/** The most characters of all remembered answers, with their keys and headers. */
const maxCharacters = 4 * 1024 * 1024;
const maxCharactersOfAnswer = 16 * 1024;
/** An estimate of the keys and headers of an answer. */
const headCharacters = 512;

/** Request headers that may change an answer or its head. What is remembered is JSON, whatever a request accepts. */
const deciding = ['prefer', 'if-none-match', 'if-match', 'idempotency-key', 'switchyard-min-position'] as const;

/**
 * Answers that hold until the next commit of the read models, so that a repeated read is answered without the steps that
 * make one. The key is resolved for each request, with its revocation and last use. With every commit all answers expire.
 */
export class RememberedAnswers {
  readonly #options: RememberedAnswersOptions;
  readonly #answers = new LRUCache<string, RememberedAnswer>({
    maxSize: maxCharacters,
    sizeCalculation: ({ text }) => text.length + headCharacters,
  });
  /** The number of commits before all of these answers. */
  #keptAt = -1;

  constructor(options: RememberedAnswersOptions) {
    this.#options = options;
  }

  /** The number of commits so far. An answer is only remembered if there was none while it was made. */
  get commits(): number {
    return this.#options.commitCounter.commits;
  }

  /** Writes the answer to a request if it is remembered. @returns false if it must be made */
  write(context: RequestContext): boolean {
    if (this.#keptAt !== this.commits || !isPlainRead(context)) return false;
    const presented = presentedKeyOf(context.ctx.req);
    const caller = presented === null ? null : this.#options.resolveNow(presented);
    if (caller === null || this.#options.answers.fullFor(caller.projectId) !== null) return false;
    const answer = this.#answers.get(keyOf(caller, context));
    // A key that was read again may have other rights.
    if (answer?.caller !== caller) return false;
    context.name = answer.name;
    context.pathTemplate = answer.pathTemplate;
    context.keyId = caller.keyId;
    context.projectId = caller.projectId;
    writeResponse(context.ctx, 200, answer.fields, answer.text);
    return true;
  }

  /** Remembers the answer to a request, if only the read models decide it and none of them has changed since it began. */
  keep(
    context: RequestContext,
    { caller, commits }: AnswerOrigin,
    { fields, text }: Pick<RememberedAnswer, 'fields' | 'text'>,
  ): void {
    if (commits !== this.commits || !isPlainRead(context) || text.length > maxCharactersOfAnswer) return;
    if (this.#keptAt !== commits) this.#answers.clear();
    this.#keptAt = commits;
    const { name, pathTemplate } = context;
    this.#answers.set(keyOf(caller, context), { caller, name, pathTemplate, fields, text });
  }
}

/** Whether the key and the path alone name what is asked for. */
function isPlainRead({ ctx: { req }, query }: RequestContext): boolean {
  return req.method === 'GET' && query === '' && deciding.every((name) => req.headers[name] === undefined);
}

function keyOf({ keyId }: Caller, { path }: RequestContext): string {
  return `${keyId} ${path}`;
}
