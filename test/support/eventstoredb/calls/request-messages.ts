import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import timestamp from 'google-protobuf/google/protobuf/timestamp_pb.js';
import type { Json, JsonMessage } from '#test/support/eventstoredb/recordings/recordings.ts';

/** A recorded 64-bit number, brought to the store that is replayed against. */
export type TranslatePosition = (recorded: string) => string;

type Setter = (value: Json) => void;

/** Calls the setter of each member that is there. */
function set(json: Json | undefined, setters: Record<string, Setter>): void {
  for (const [key, value] of Object.entries(json as JsonMessage)) {
    const setter = setters[key];
    if (setter === undefined) throw new Error(`No field ${key} is known.`);
    setter(value);
  }
}

const empty = () => new shared.Empty();

function identifier(json: Json) {
  return new shared.StreamIdentifier().setStreamName(String((json as JsonMessage).streamName));
}

function uuid(json: Json) {
  const message = new shared.UUID();
  set(json, {
    string: (value) => message.setString(String(value)),
    structured: (value) => {
      const { mostSignificantBits, leastSignificantBits } = value as JsonMessage;
      const structured = new shared.UUID.Structured()
        .setMostSignificantBits(String(mostSignificantBits))
        .setLeastSignificantBits(String(leastSignificantBits));
      message.setStructured(structured);
    },
  });
  return message;
}

/** @param translate for the positions in it */
export function readRequestMessage(json: JsonMessage, translate: TranslatePosition) {
  const options = new streams.ReadReq.Options();
  set(json.options, {
    stream: (value) => {
      const stream = new streams.ReadReq.Options.StreamOptions();
      set(value, {
        streamIdentifier: (name) => stream.setStreamIdentifier(identifier(name)),
        revision: (revision) => stream.setRevision(String(revision)),
        start: () => stream.setStart(empty()),
        end: () => stream.setEnd(empty()),
      });
      options.setStream(stream);
    },
    all: (value) => {
      const all = new streams.ReadReq.Options.AllOptions();
      set(value, {
        position: (position) => {
          const commit = translate(String((position as JsonMessage).commitPosition));
          all.setPosition(new streams.ReadReq.Options.Position().setCommitPosition(commit).setPreparePosition(commit));
        },
        start: () => all.setStart(empty()),
        end: () => all.setEnd(empty()),
      });
      options.setAll(all);
    },
    readDirection: (value) => options.setReadDirection(value === 'Backwards' ? 1 : 0),
    resolveLinks: (value) => options.setResolveLinks(value === true),
    count: (value) => options.setCount(String(value)),
    subscription: () => options.setSubscription(new streams.ReadReq.Options.SubscriptionOptions()),
    filter: (value) => options.setFilter(filter(value)),
    noFilter: () => options.setNoFilter(empty()),
    uuidOption: (value) => {
      const form = new streams.ReadReq.Options.UUIDOption();
      set(value, { string: () => form.setString(empty()), structured: () => form.setStructured(empty()) });
      options.setUuidOption(form);
    },
    controlOption: (value) => {
      const compatibility = Number((value as JsonMessage).compatibility);
      options.setControlOption(new streams.ReadReq.Options.ControlOption().setCompatibility(compatibility));
    },
  });
  return new streams.ReadReq().setOptions(options);
}

function filter(json: Json) {
  const message = new streams.ReadReq.Options.FilterOptions();
  const expression = (value: Json) => {
    const { regex, prefix } = value as JsonMessage;
    return new streams.ReadReq.Options.FilterOptions.Expression()
      .setRegex(String(regex))
      .setPrefixList(prefix as string[]);
  };
  set(json, {
    streamIdentifier: (value) => message.setStreamIdentifier(expression(value)),
    eventType: (value) => message.setEventType(expression(value)),
    max: (value) => message.setMax(Number(value)),
    count: () => message.setCount(empty()),
    checkpointIntervalMultiplier: (value) => message.setCheckpointintervalmultiplier(Number(value)),
  });
  return message;
}

/** The options that appends, deletes and tombstones share. */
interface ExpectationMessage {
  setStreamIdentifier(value: InstanceType<typeof shared.StreamIdentifier>): unknown;
  setNoStream(value: InstanceType<typeof shared.Empty>): unknown;
  setAny(value: InstanceType<typeof shared.Empty>): unknown;
  setStreamExists(value: InstanceType<typeof shared.Empty>): unknown;
}

function setExpectation(
  json: Json | undefined,
  options: ExpectationMessage,
  setRevision: (revision: string) => void,
  others: Record<string, Setter> = {},
): void {
  set(json, {
    streamIdentifier: (value) => options.setStreamIdentifier(identifier(value)),
    noStream: () => options.setNoStream(empty()),
    any: () => options.setAny(empty()),
    streamExists: () => options.setStreamExists(empty()),
    revision: (value) => setRevision(String(value)),
    streamPosition: (value) => setRevision(String(value)),
    ...others,
  });
}

export function appendRequestMessage(json: JsonMessage) {
  const message = new streams.AppendReq();
  set(json, {
    options: (value) => {
      const options = new streams.AppendReq.Options();
      setExpectation(value, options, (revision) => options.setRevision(revision));
      message.setOptions(options);
    },
    proposedMessage: (value) => {
      const proposed = new streams.AppendReq.ProposedMessage();
      setEvent(value, proposed);
      message.setProposedMessage(proposed);
    },
  });
  return message;
}

/** @param deadline of the append, whatever was recorded */
export function batchAppendRequestMessage(json: JsonMessage, deadline: Date) {
  const message = new streams.BatchAppendReq();
  set(json, {
    correlationId: (value) => message.setCorrelationId(uuid(value)),
    isFinal: (value) => message.setIsFinal(value === true),
    options: (value) => {
      const options = new streams.BatchAppendReq.Options();
      setExpectation(value, options, (revision) => options.setStreamPosition(revision), {
        deadline: () => options.setDeadline(timestamp.Timestamp.fromDate(deadline)),
      });
      message.setOptions(options);
    },
    proposedMessages: (value) => {
      for (const event of value as Json[]) {
        const proposed = new streams.BatchAppendReq.ProposedMessage();
        setEvent(event, proposed);
        message.addProposedMessages(proposed);
      }
    },
  });
  return message;
}

interface EventMessage {
  setId(value: InstanceType<typeof shared.UUID>): unknown;
  getMetadataMap(): { set(key: string, value: string): unknown };
  setData(value: Uint8Array): unknown;
  setCustomMetadata(value: Uint8Array): unknown;
}

function setEvent(json: Json, message: EventMessage): void {
  set(json, {
    id: (value) => message.setId(uuid(value)),
    metadata: (value) => {
      for (const [key, text] of Object.entries(value as JsonMessage)) message.getMetadataMap().set(key, String(text));
    },
    data: (value) => message.setData(bytes(value)),
    customMetadata: (value) => message.setCustomMetadata(bytes(value)),
  });
}

/** Long texts were left out of the recordings: all of them are of the letter x. */
function bytes(json: Json): Uint8Array {
  if (typeof json === 'string') return Buffer.from(json, 'base64');
  return Buffer.alloc(Number(((json as JsonMessage).$omitted as JsonMessage).bytes), 'x');
}

export function deleteRequestMessage(json: JsonMessage) {
  const options = new streams.DeleteReq.Options();
  setExpectation(json.options, options, (revision) => options.setRevision(revision));
  return new streams.DeleteReq().setOptions(options);
}

export function tombstoneRequestMessage(json: JsonMessage) {
  const options = new streams.TombstoneReq.Options();
  setExpectation(json.options, options, (revision) => options.setRevision(revision));
  return new streams.TombstoneReq().setOptions(options);
}
