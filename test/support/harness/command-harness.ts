import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { Command, DecisionContext } from '#application/commands/command.ts';
import { decodeInput } from '#application/operations/decode-input.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { callerOf, fresh, tenants } from '#test/support/events/tenants.ts';
import { foldTold, type ToldEvent, timeOf } from './recorded-events.ts';

/** The key's text that every decision under test is handed. */
export const secretKey = `sy_live_${'Ab3'.repeat(14)}x`;

/** When every decision under test is made. */
export const decidedAt = timeOf(3600);

/** Failures that any command may give without listing them. */
const common: ReadonlySet<FailureCode> = new Set([
  'invalid-input',
  'scope-required',
  'key-type-not-allowed',
  'unavailable',
]);

/**
 * The harness for decisions: `givenHistory(...events).when(command, input, context).then(...events)`, or `.then('failure-code')`.
 * The input is decoded as a client's is. The context has an admin caller, fixed ids, time and key; what a command
 * learns of other streams (`also`, `subject`) is told by the test.
 */
export function givenHistory(...history: ReadonlyArray<ToldEvent>) {
  return {
    when<Input extends object, State, Events, SubjectState, Also, Output>(
      command: Command<Input, State, Events, SubjectState, Also, Output>,
      input: JsonObject,
      context: Partial<DecisionContext<SubjectState, Also>> = {},
    ) {
      const state = foldTold(command.entity, history).state;
      const all: DecisionContext<SubjectState, Also> = {
        caller: callerOf('admin'),
        fresh,
        secret: { key: secretKey },
        // A command that looks at its subject or at other streams is told of them by its test.
        subject: { state: null as SubjectState, tenant: tenants.project },
        also: undefined as Also,
        time: decidedAt,
        maxFilledBytes: defaultMaxFilledBytes,
        ...context,
      };
      const decided = E.chain((decoded: Input) => command.decide(decoded, state, all))(
        decodeInput(command.input, input),
      );
      return outcome(decided, command.failures);
    },
  };
}

function outcome<Event extends object>(
  decided: E.Either<Failure, ReadonlyArray<Event>>,
  listed: ReadonlyArray<FailureCode>,
) {
  return {
    /** Asserts the events given (none: nothing changes), or the code of the refusal. */
    // biome-ignore lint/suspicious/noThenProperty: given, when, then: the sentence that every test here is.
    then(...expected: ReadonlyArray<Event> | readonly [FailureCode]): void {
      const [first] = expected;
      if (typeof first !== 'string') {
        assert.deepEqual(E.isRight(decided) ? decided.right : decided.left, expected);
        return;
      }
      assert.equal(E.isLeft(decided) ? decided.left.code : decided.right, first);
      assert.ok(common.has(first) || listed.includes(first), `the command does not list ${first}`);
    },
  };
}
