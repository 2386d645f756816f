import features from '@eventstore/db-client/generated/serverfeatures_pb.js';

/** The features that 23.10.8 reports, in its order and spelling. The features of a method follow its colon. */
const methods: ReadonlyArray<readonly [service: string, methods: string]> = [
  ['event_store.client.redaction.redaction', 'geteventpositions switchchunks'],
  [
    'event_store.client.persistent_subscriptions.persistentsubscriptions',
    'create:stream,all update:stream,all delete:stream,all read:stream,all getinfo:stream,all replayparked:stream,all list:stream,all restartsubsystem:stream,all',
  ],
  ['event_store.client.users.users', 'create update delete disable enable details changepassword resetpassword'],
  ['event_store.client.streams.streams', 'read:position,events append delete tombstone batchappend:deadline_duration'],
  [
    'event_store.client.operations.operations',
    'startscavenge stopscavenge shutdown mergeindexes resignnode setnodepriority restartpersistentsubscriptions',
  ],
  ['event_store.client.gossip.gossip', 'read'],
  ['event_store.client.monitoring.monitoring', 'stats'],
  ['event_store.client.server_features.serverfeatures', 'getsupportedmethods'],
];

/** The answer to `GetSupportedMethods`. */
export function supportedMethods(): InstanceType<typeof features.SupportedMethods> {
  const list = methods.flatMap(([serviceName, names]) =>
    names.split(' ').map((name) => {
      const [methodName = '', own] = name.split(':');
      return new features.SupportedMethod()
        .setServiceName(serviceName)
        .setMethodName(methodName)
        .setFeaturesList(own?.split(',') ?? []);
    }),
  );
  return new features.SupportedMethods().setMethodsList(list).setEventStoreServerVersion('23.10.8');
}
