// Without Redis only the running instances know the current minute. Other processes ask them, by way of the database.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, NotificationListener } from '#libs/database';
import { RUNNING_INSTANCES, type RunningInstance } from './running-instances';
import type { WindowStanding } from '../rules/rate-window';
import type { QuotaStore } from './quota-store';
import type { ClientSubject } from './subject';

/** Notified with a `Question`. */
export const QUESTIONS_CHANNEL = 'petstore_standings';
const ANSWER_MS = 2_000;

interface Question {
  subject: ClientSubject;
  /** The channel that the standings are to be sent to. */
  replyTo: string;
}

/** @param question the payload of a notification */
export async function answerQuestion(question: string, store: QuotaStore, database: Database): Promise<void> {
  const { subject, replyTo } = JSON.parse(question) as Question;
  const { standings } = await store.look(subject);
  await database.query('SELECT pg_notify($1, $2)', [replyTo, JSON.stringify(standings)]);
}

/** Asks the running instances. */
@Injectable()
export class StandingQuestions {
  constructor(
    private readonly database: Database,
    private readonly listener: NotificationListener,
  ) {}

  /** The standings of each instance that answers; null if none runs. */
  async ask(subject: ClientSubject): Promise<WindowStanding[][] | null> {
    const instances = await this.database.query<RunningInstance>(RUNNING_INSTANCES);
    const expected = instances.reduce((sum, { workers }) => sum + workers, 0);
    if (expected === 0) {
      return null;
    }
    const replyTo = `${QUESTIONS_CHANNEL}_${randomUUID()}`;
    const answers: WindowStanding[][] = [];
    let unsubscribe: (() => Promise<void>) | undefined;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ANSWER_MS);
      const onNotification = (answer: string): void => {
        answers.push(JSON.parse(answer) as WindowStanding[]);
        if (answers.length >= expected) {
          resolve();
        }
      };
      this.listener
        .subscribe({ channels: [replyTo], onNotification })
        .then((end) => (unsubscribe = end))
        .then(() => this.send({ subject, replyTo }))
        .catch(() => resolve());
    });
    clearTimeout(timer);
    await unsubscribe?.();
    return answers;
  }

  private async send(question: Question): Promise<void> {
    await this.database.query('SELECT pg_notify($1, $2)', [QUESTIONS_CHANNEL, JSON.stringify(question)]);
  }
}
