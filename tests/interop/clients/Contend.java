import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Acquires a lock with Curator's InterProcessMutex repeatedly, in contention with other clients. tests/interop/other-client.ts
 * starts it. Writes one JSON object per line: ready, hold (one per hold), done. Reads "go" and "stop".
 * Times are nanoseconds of System.nanoTime(), on Linux CLOCK_MONOTONIC as process.hrtime() in Node.js.
 */
public final class Contend {
  private static volatile boolean stopped = false;

  /** Arguments: ZooKeeper's hosts, lock path, Redis host and port of the witness, its key, callers, hold and longest pause in ms. */
  public static void main(String[] args) throws Exception {
    String lockPath = args[1];
    String witnessHost = args[2];
    int witnessPort = Integer.parseInt(args[3]);
    String witnessKey = args[4];
    int callers = Integer.parseInt(args[5]);
    long holdMs = Long.parseLong(args[6]);
    int longestPauseMs = Integer.parseInt(args[7]);
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(args[0], 10_000, 15_000, new ExponentialBackoffRetry(100, 5));
    client.start();
    client.blockUntilConnected();
    // All threads share one instance: the thread that holds the lock owns it.
    InterProcessMutex mutex = new InterProcessMutex(client, lockPath);
    send("{\"type\":\"ready\"}");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    if (!"go".equals(input.readLine())) throw new IllegalStateException("expected go");
    List<Thread> threads = new ArrayList<>();
    for (int caller = 0; caller < callers; caller++) {
      Thread thread = new Thread(() -> {
        try (Witness witness = new Witness(witnessHost, witnessPort, witnessKey)) {
          contend(mutex, witness, holdMs, longestPauseMs);
        } catch (Exception failure) {
          send("{\"type\":\"failed\",\"message\":\"" + failure.toString().replaceAll("[\"\\\\\\p{Cntrl}]", " ") + "\"}");
        }
      });
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    // The end of the input also stops the program: the test has ended.
    input.readLine();
    stopped = true;
    for (Thread thread : threads) thread.join(30_000);
    send("{\"type\":\"done\"}");
    client.close();
  }

  private static void contend(InterProcessMutex mutex, Witness witness, long holdMs, int longestPauseMs)
      throws Exception {
    while (!stopped) {
      mutex.acquire();
      long fromNs;
      long entered;
      long left;
      long toNs;
      try {
        fromNs = System.nanoTime();
        entered = witness.send("INCR");
        Thread.sleep(holdMs);
        left = witness.send("DECR");
        toNs = System.nanoTime();
      } finally {
        mutex.release();
      }
      Thread.sleep(ThreadLocalRandom.current().nextInt(longestPauseMs + 1));
      send(String.format(
          "{\"type\":\"hold\",\"fromNs\":\"%d\",\"toNs\":\"%d\",\"entered\":%d,\"left\":%d}", fromNs, toNs, entered, left));
    }
  }

  private static synchronized void send(String line) {
    System.out.println(line);
    System.out.flush();
  }

  /** A counter in Redis, accessed with inline commands. */
  private static final class Witness implements AutoCloseable {
    private final Socket socket;
    private final BufferedReader replies;
    private final String key;

    Witness(String host, int port, String key) throws IOException {
      socket = new Socket(host, port);
      socket.setTcpNoDelay(true);
      replies = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      this.key = key;
    }

    long send(String command) throws IOException {
      socket.getOutputStream().write((command + " " + key + "\r\n").getBytes(StandardCharsets.UTF_8));
      String reply = replies.readLine();
      if (reply == null || !reply.startsWith(":")) throw new IOException("Redis returned an unexpected reply: " + reply);
      return Long.parseLong(reply.substring(1));
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
