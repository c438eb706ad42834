// On the overview: the plan, the windows, a ban and the requests of thirty days, once somebody has authorized.

async function ask(path, key) {
  const answer = await fetch(path, { headers: { 'X-API-Key': key } });
  const body = await answer.json();
  if (!answer.ok) {
    throw new Error(body.message);
  }
  return body;
}

/** The limits, which are never counted, and the usage, which is: it is asked for once, and only if it is not refused. */
async function load(key, known) {
  const limits = await ask('/rate-limit', key);
  if (known || limits.ban.banned || limits.minute.remaining === 0 || limits.day.remaining === 0) {
    return { limits, usage: known };
  }
  const usage = await ask('/usage', key);
  return { usage, limits: await ask('/rate-limit', key) };
}

const HEIGHT = 60;

/** Takes the place of Swagger UI's description of the API. */
export function limitsComponent({ React, layoutSelectors }, authorizedKey) {
  const { createElement: h, Fragment, useEffect, useState } = React;
  const time = (text) => h('time', { dateTime: text }, new Date(text).toLocaleString());
  const table = (caption, head, rows) =>
    h(
      'table',
      null,
      h('caption', null, caption),
      h('thead', null, h('tr', null, ...head.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', null, ...rows.map((row) => h('tr', null, ...row.map((cell) => h('td', null, cell))))),
    );

  const Chart = ({ days }) => {
    const most = Math.max(1, ...days.map(({ requests }) => requests));
    const bars = days.map(({ date, requests }, index) => {
      const height = (HEIGHT * requests) / most;
      const place = { key: date, x: index * 10, y: HEIGHT - height, width: 8, height };
      return h('rect', place, h('title', null, `${date}: ${requests}`));
    });
    const rows = days.map(({ date, requests }) => [date, requests]);
    return h(
      Fragment,
      null,
      h('p', null, `Requests of the last ${days.length} days, at most ${most} on a day`),
      h(
        'svg',
        { viewBox: `0 0 ${days.length * 10} ${HEIGHT}`, preserveAspectRatio: 'none', 'aria-hidden': true },
        bars,
      ),
      h('div', { className: 'unseen' }, table('Requests by day', ['Day (UTC)', 'Requests'], rows)),
    );
  };

  return () => {
    const key = authorizedKey();
    const isOverview = !layoutSelectors.currentFilter();
    const [known, set] = useState({});
    useEffect(() => {
      if (key && isOverview) {
        load(key, known.key === key ? known.usage : undefined).then(
          (loaded) => set({ key, ...loaded }),
          ({ message }) => set({ key, message }),
        );
      }
    }, [key, isOverview]);
    if (!key || !isOverview || known.key !== key) {
      return null;
    }
    const { limits, usage, message } = known;
    if (message) {
      return h('section', { className: 'limits', role: 'alert' }, message);
    }
    const windows = ['minute', 'day'].map((name) => {
      const { limit, remaining, resetAt } = limits[name];
      return [name, `${remaining} of ${limit}`, time(resetAt)];
    });
    const banned =
      limits.ban.banned && h('p', null, 'This key is banned until ', time(limits.ban.until), '.');
    return h(
      'section',
      { className: 'limits' },
      table(`Your limits: plan ${limits.plan}`, ['Window', 'Requests left', 'Begins anew'], windows),
      banned,
      usage && h(Chart, usage),
    );
  };
}
