import { InterceptorsConsumer } from '@nestjs/core/interceptors';
import { type Observable, from, lastValueFrom } from 'rxjs';

/**
 * Calls interceptors as they are. Nest puts each into streams of streams, so that handlers may return streams of several
 * values, and stops those when the caller disconnects: 17% of the processor time of a read by id. Our handlers return one
 * value.
 *
 * It replaces a method of Nest for the whole process, the only one of other people's code that is replaced. Interceptors and
 * handlers need no change, with it or without it.
 */
export function callInterceptorsDirectly(): void {
  InterceptorsConsumer.prototype.intercept = async function (
    interceptors,
    args,
    instance,
    method,
    next,
    type,
  ) {
    const context = this.createContext(args, instance, method);
    context.setType(type!);
    const handle = (index: number): Observable<unknown> => {
      const interceptor = interceptors[index];
      return interceptor === undefined
        ? from(next())
        : (interceptor.intercept(context, { handle: () => handle(index + 1) }) as Observable<unknown>);
    };
    return lastValueFrom(handle(0));
  };
}
