// Acquires a lock with etcd's Go client repeatedly, in contention with other clients. tests/interop/other-client.ts
// starts it.
//
// The first argument is the order as JSON. Writes one JSON object per line: ready, hold (one per hold), done, failed.
// Reads "go" and "stop". Times are nanoseconds of CLOCK_MONOTONIC, the clock of process.hrtime() in Node.js.
//
// Each caller keeps one session for all its holds, so its mutex creates the same key again after each unlock.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"golang.org/x/sys/unix"
)

type order struct {
	LockName       string  `json:"lockName"`
	WitnessKey     string  `json:"witnessKey"`
	RedisUrl       string  `json:"redisUrl"`
	EtcdUrl        string  `json:"etcdUrl"`
	Callers        int     `json:"callers"`
	HoldMs         float64 `json:"holdMs"`
	LongestPauseMs float64 `json:"longestPauseMs"`
	TtlMs          float64 `json:"ttlMs"`
}

type message struct {
	Type    string `json:"type"`
	FromNs  string `json:"fromNs,omitempty"`
	ToNs    string `json:"toNs,omitempty"`
	Entered int64  `json:"entered"`
	Left    int64  `json:"left"`
	Message string `json:"message,omitempty"`
}

var output sync.Mutex

func send(sent message) {
	output.Lock()
	defer output.Unlock()
	line, _ := json.Marshal(sent)
	fmt.Println(string(line))
}

func monotonicNs() string {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return strconv.FormatInt(now.Nano(), 10)
}

// witness counts the holders in Redis.
type witness struct {
	connection net.Conn
	reader     *bufio.Reader
	key        string
}

func openWitness(asked order) (*witness, error) {
	address, err := url.Parse(asked.RedisUrl)
	if err != nil {
		return nil, err
	}
	connection, err := net.Dial("tcp", address.Host)
	if err != nil {
		return nil, err
	}
	return &witness{connection, bufio.NewReader(connection), asked.WitnessKey}, nil
}

func (w *witness) count(command string) (int64, error) {
	if _, err := fmt.Fprintf(w.connection, "%s %s\r\n", command, w.key); err != nil {
		return 0, err
	}
	line, err := w.reader.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(strings.TrimPrefix(line, ":")), 10, 64)
}

func contend(client *clientv3.Client, asked order, stopped *atomic.Bool) error {
	session, err := concurrency.NewSession(client, concurrency.WithTTL(int(asked.TtlMs/1000)))
	if err != nil {
		return err
	}
	defer session.Close()
	seen, err := openWitness(asked)
	if err != nil {
		return err
	}
	defer seen.connection.Close()
	mutex := concurrency.NewMutex(session, asked.LockName)
	for !stopped.Load() {
		if err := hold(mutex, seen, asked); err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.Float64() * asked.LongestPauseMs * float64(time.Millisecond)))
	}
	return nil
}

func hold(mutex *concurrency.Mutex, seen *witness, asked order) error {
	if err := mutex.Lock(context.Background()); err != nil {
		return err
	}
	fromNs := monotonicNs()
	entered, err := seen.count("INCR")
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(asked.HoldMs * float64(time.Millisecond)))
	left, err := seen.count("DECR")
	if err != nil {
		return err
	}
	toNs := monotonicNs()
	if err := mutex.Unlock(context.Background()); err != nil {
		return err
	}
	send(message{Type: "hold", FromNs: fromNs, ToNs: toNs, Entered: entered, Left: left})
	return nil
}

func run() error {
	var asked order
	if err := json.Unmarshal([]byte(os.Args[1]), &asked); err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{asked.EtcdUrl}, DialTimeout: 15 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	send(message{Type: "ready"})
	input := bufio.NewReader(os.Stdin)
	if _, err := input.ReadString('\n'); err != nil {
		return err
	}
	var stopped atomic.Bool
	var callers sync.WaitGroup
	for range asked.Callers {
		callers.Add(1)
		go func() {
			defer callers.Done()
			if err := contend(client, asked, &stopped); err != nil {
				send(message{Type: "failed", Message: err.Error()})
			}
		}()
	}
	// The end of the input also stops the program: the test has ended.
	_, _ = input.ReadString('\n')
	stopped.Store(true)
	callers.Wait()
	send(message{Type: "done"})
	return nil
}

func main() {
	if err := run(); err != nil {
		send(message{Type: "failed", Message: err.Error()})
		os.Exit(1)
	}
}
