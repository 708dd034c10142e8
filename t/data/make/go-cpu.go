// The program behind t/data/go-cpu.pb.gz, a CPU profile of Go's runtime: two
// kinds of work, under the labels thread and state, with inlined functions.
//
//     go build -trimpath -o /usr/local/bin/example go-cpu.go
//     example go-cpu.pb.gz

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"os"
	"runtime/pprof"
	"time"
)

const slice = 200 * time.Millisecond

func hash(until time.Time) {
	block := make([]byte, 65536)
	for time.Now().Before(until) {
		sum := sha256.Sum256(block)
		copy(block, sum[:])
	}
}

func squeeze(until time.Time) {
	block := bytes.Repeat([]byte("GET /index.html HTTP/1.1\r\n"), 4096)
	for time.Now().Before(until) {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, 9)
		w.Write(block)
		w.Close()
	}
}

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	pprof.StartCPUProfile(f)
	for i := 0; i < 4; i++ {
		name, state, work := "hash", []string{"cpu", "blocked"}[i/2], hash
		if i%2 == 1 {
			name, work = "gzip", squeeze
		}
		pprof.Do(context.Background(),
			pprof.Labels("thread", name, "state", state),
			func(context.Context) { work(time.Now().Add(slice)) })
	}
	pprof.StopCPUProfile()
	f.Close()
}
