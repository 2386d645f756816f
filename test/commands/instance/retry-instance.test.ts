import { retryInstance } from '#commands/instance/retry-instance.ts';
import {
  activeInstance,
  ended,
  instanceCreated,
  operationFailed,
  retryRequested,
  targetOf,
  upgradeRequested,
  wantedVersion,
} from '#test/support/events/instance-events.ts';
import { templateVersionOf } from '#test/support/events/template-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import type { ExampleEvent } from '#test/support/harness/recorded-events.ts';

const seen = { isThere: () => true, flow: () => null, agentProfile: null };
const when = (number: number, ...history: ReadonlyArray<ExampleEvent>) =>
  givenHistory(...history).when(
    retryInstance,
    { instanceId: ids.instance },
    {
      related: { wanted: wantedVersion(number), present: seen },
    },
  );
const failed = [instanceCreated(), operationFailed(1), ended(1, 'failed')];

describe('retry_instance', () => {
  it('retries a first provisioning with new ids', () => {
    const target = targetOf(2, { templateVersion: 1, templateVersionId: templateVersionOf(ids.template, 1) });
    when(1, ...failed).then(retryRequested(2, target));
  });

  it('retries an undone upgrade with its field values, based on the current resources', () => {
    const fieldValues = { name: 'Meier', limit: '3' };
    const undone = targetOf(2, { fieldValues }, targetOf(1));
    const more = { fieldValues, templateVersion: 2, templateVersionId: templateVersionOf(ids.template, 2) };
    when(2, ...activeInstance(), upgradeRequested(2, undone), operationFailed(2), ended(2, 'undone')).then(
      retryRequested(3, targetOf(3, more, targetOf(1))),
    );
  });

  it('refuses to retry while an operation runs, and when none has failed', () => {
    when(1, instanceCreated()).then('nothing-to-retry');
    when(1, instanceCreated(), operationFailed(1)).then('nothing-to-retry');
    when(1, ...activeInstance()).then('nothing-to-retry');
    when(1, ...failed, retryRequested(2)).then('nothing-to-retry');
  });
});
