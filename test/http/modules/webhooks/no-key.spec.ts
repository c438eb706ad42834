import { useStore } from '../../../support/use-service';

const { service, caller } = useStore({ settings: { webhookKey: undefined } });

const lines = () =>
  service.log.lines.filter((line) => JSON.stringify(line).includes('WEBHOOK_KEY is not set'));

describe('Without WEBHOOK_KEY', () => {
  it('the start says in one line that webhooks cannot be created, and why', () => {
    const ofStart = lines().filter(({ context }) => context === 'Webhooks');
    expect(ofStart).toMatchObject([
      { level: 40, msg: expect.stringMatching(/can be created.*openssl/) as string },
    ]);
  });

  it('creating one is 503, and the log names the variable', async () => {
    const answer = await caller.post('/webhooks', { url: 'https://shop.example/events' });
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(lines().at(-1)).toMatchObject({
      code: 'service_unavailable',
      reason: expect.any(String) as string,
    });
  });
});
