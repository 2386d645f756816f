import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import type { Command, DecisionContext } from '#application/commands/command.ts';
import { decodeInput } from '#application/operations/invoke.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import { defaultMaxFilledBytes } from '#domain/template/filled-size.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { callerOf, newIds, tenants } from '#test/support/events/tenants.ts';
import { type ExampleEvent, foldEvents, timeOf } from './recorded-events.ts';

/** The secret that every decision in tests receives. */
export const secretKey = `sy_live_${'Ab3'.repeat(14)}x`;

/** The signing secret that every decision in tests receives. */
export const webhookSecret = `whsec_${Buffer.from('0123456789abcdefghijklmnopqrstuv').toString('base64')}`;

/** The time of every decision in tests. */
export const decidedAt = timeOf(3600);

/** Failures that any command may return without listing them. */
const common: ReadonlySet<FailureCode> = new Set([
  'invalid-input',
  'scope-required',
  'key-type-not-allowed',
  'unavailable',
]);

/**
 * The harness for decisions: `givenHistory(...events).when(command, input, context).then(...events)`, or `.then('failure-code')`.
 * The input is decoded as a client's is. The context has an admin caller, fixed ids, time and secret. The test passes the
 * state of other streams (`related`, `subject`) to commands that use it.
 */
export function givenHistory(...history: ReadonlyArray<ExampleEvent>) {
  return {
    when<Input extends object, State, Events, SubjectState, Also, Output>(
      command: Command<Input, State, Events, SubjectState, Also, Output>,
      input: JsonObject,
      context: Partial<DecisionContext<SubjectState, Also>> = {},
    ) {
      const state = foldEvents(command.entity, history).state;
      const all: DecisionContext<SubjectState, Also> = {
        caller: callerOf('admin'),
        newIds,
        newSecrets: { apiKey: secretKey, webhookSecret },
        // The test of a command that uses `subject` or `related` passes them in `context`.
        subject: { state: null as SubjectState, tenant: tenants.project },
        related: undefined as Also,
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
    /** Asserts the decided events (none: nothing changes) or the code of the failure. */
    // biome-ignore lint/suspicious/noThenProperty: tests read as given, when, then.
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
