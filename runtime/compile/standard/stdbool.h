/* bool is a word of C++. */
