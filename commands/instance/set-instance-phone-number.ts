import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { put } from '#application/operations/operation.ts';
import { cuid } from '#domain/codecs/id.ts';
import { instance, instanceRecord } from '#domain/instance/instance.ts';
import { InstanceRecord } from '#domain/instance/record.ts';
import { knownPhoneNumber, phoneNumber } from '#domain/phone-number/phone-number.ts';
import { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure } from '#domain/shared/failure.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

export const setInstancePhoneNumber = command({
  about: {
    name: 'set_instance_phone_number',
    summary: 'Set or clear the phone number for a requirement of an instance’s template',
    group: 'Instances',
    example: { input: { phoneNumberId: PhoneNumberRecord.example.id }, output: InstanceRecord.example },
  },
  http: put('/v1/instances/:instanceId/phone-number-requirements/:key'),
  access: { scope: 'instances:write', subject: { entity: instance, parameter: 'instanceId' } },
  input: t.type({ instanceId: cuid, key: text(), phoneNumberId: nullable(cuid) }),
  output: InstanceRecord,
  failures: ['instance-not-found', 'phone-number-requirement-not-found', 'phone-number-not-found'],
  entity: instance,
  loadRelated: async ({ phoneNumberId }, { load }) =>
    phoneNumberId === null ? null : (await load(phoneNumber, phoneNumberId)).state,
  decide: ({ instanceId: id, key, phoneNumberId }, state, { related: number }) => {
    const { phoneNumberRequirements, projectId } = instanceRecord(state);
    const requirement = phoneNumberRequirements.find((each) => each.key === key);
    if (requirement === undefined) {
      return E.left(
        failure(
          'phone-number-requirement-not-found',
          `The instance’s template version requires no phone number "${key}".`,
        ),
      );
    }
    if (phoneNumberId !== null) {
      const there =
        phoneNumber.isLive(number, phoneNumberId) && knownPhoneNumber(number).record.projectId === projectId;
      if (!there) {
        return E.left(
          failure('phone-number-not-found', `There is no phone number ${phoneNumberId} in the instance’s project.`),
        );
      }
    }
    if (requirement.phoneNumberId === phoneNumberId) return E.right([]);
    return E.right([newEvent('InstancePhoneNumberSet', { id, key, phoneNumberId })]);
  },
  answer: ({ state }) => instanceRecord(state),
});
